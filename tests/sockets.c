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
 *   sockets number HOST PORT N MICROSECONDS
 *       sends N dated datagrams, one every so often
 *
 *   sockets count PORT
 *       prints "ready", takes the datagrams of one such sender until none comes for two seconds
 *       (ten before the first),
 *       and prints "came least most": least and most are the milliseconds on the way
 */
#include <arpa/inet.h>
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
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

struct dated {
    double sent_ms;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int number(const char *host, const char *port, uint32_t n, unsigned us)
{
    struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *at;
    if (getaddrinfo(host, port, &want, &at))
        errx(1, "no host %s", host);
    int fd = socket(at->ai_family, at->ai_socktype, 0);
    for (uint32_t i = 0; i < n; i++) {
        struct dated d = {.sent_ms = now_ms()};
        sendto(fd, &d, sizeof d, 0, at->ai_addr, at->ai_addrlen);
        nanosleep(&(struct timespec){0, 1000L * us}, NULL);
    }
    freeaddrinfo(at);
    return 0;
}

static int count(const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 4 << 20;
    unsigned came = 0;
    double least = 1e9, most = 0;
    struct dated d = {0};
    if (bind(fd, (struct sockaddr *)&at, sizeof at))
        err(1, "port %s", port);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    puts("ready");
    fflush(stdout);
    while (recv(fd, &d, sizeof d, 0) == sizeof d) {
        double took = now_ms() - d.sent_ms;
        patience.tv_sec = 2;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        came++;
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    printf("%u %.2f %.2f\n", came, least, most);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "listen"))
        return listen_at(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "strangers"))
        return strangers(argv[2], argv[3]);
    if (argc == 6 && !strcmp(argv[1], "number"))
        return number(argv[2], argv[3], (uint32_t)atoi(argv[4]), (unsigned)atoi(argv[5]));
    if (argc == 3 && !strcmp(argv[1], "count"))
        return count(argv[2]);
    errx(2, "usage: sockets listen PORT | strangers PORT HOST | "
            "number HOST PORT N MICROSECONDS | count PORT");
}
