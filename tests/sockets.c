/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shell cannot do with sockets, for tests:
 *
 *   sockets listen PORT
 *       listens, prints "listening", and stays until it is killed
 *
 *   sockets strangers PORT HOST
 *       sends several things that are not of gradsync; prints the number of bytes answered
 *
 *   sockets silent PATH N COMMAND…
 *       opens N connections to a Unix socket, sends nothing, runs COMMAND
 */
#include <arpa/inet.h>
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1))
        err(1, "port %s", port);
    puts("listening");
    fflush(stdout);
    return pause();
}

static int connected(const char *host, const char *port)
{
    struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *at;
    if (getaddrinfo(host, port, &want, &at))
        errx(1, "no host %s", host);
    int fd = socket(at->ai_family, at->ai_socktype, 0);
    if (connect(fd, at->ai_addr, at->ai_addrlen))
        err(1, "no connection to %s, port %s", host, port);
    freeaddrinfo(at);
    return fd;
}

static int strangers(const char *port, const char *host)
{
    static char noise[65536];
    const struct {
        const char *bytes;
        size_t n;
    } all[] = {{"", 0}, {"GET / HTTP/1.1\r\n\r\n", 18}, {noise, sizeof noise}};
    size_t answered = 0;
    int silent = connected(host, port);
    memset(noise, 'x', sizeof noise);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char answer[100];
        int fd = connected(host, port);
        send(fd, all[i].bytes, all[i].n, MSG_NOSIGNAL); /* it may be closed before all is sent */
        shutdown(fd, SHUT_WR);
        for (ssize_t got; (got = recv(fd, answer, sizeof answer, 0)) > 0;)
            answered += (size_t)got;
        close(fd);
    }
    close(silent);
    printf("%zu\n", answered);
    return 0;
}

static int silent(const char *path, int n, char **command)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    for (int i = 0; i < n; i++)
        if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&at, sizeof at))
            err(1, "%s", path);
    execvp(command[0], command);
    err(1, "%s", command[0]);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "listen"))
        return listen_at(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "strangers"))
        return strangers(argv[2], argv[3]);
    if (argc > 4 && !strcmp(argv[1], "silent"))
        return silent(argv[2], atoi(argv[3]), argv + 4);
    errx(2, "usage: sockets listen PORT | strangers PORT HOST | silent PATH N COMMAND…");
}
