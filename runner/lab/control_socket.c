/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/control_socket.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "lab/orders.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MS 5000

/* Reads a line of at most size - 1 bytes, without its newline. False: none came in time. */
static bool read_line(int fd, char *line, size_t size, int wait_ms)
{
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (n + 1 < size && poll(&p, 1, wait_ms) > 0) {
        ssize_t got = recv(fd, line + n, size - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        line[n] = '\0';
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            return true;
        }
    }
    return false;
}

static void send_line(int fd, const char *text)
{
    AUTO_FREE char *line = xstrfmt("%s\n", text);
    /* The relay must not wait for a client that does not read. */
    if (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
}

void control_socket_answer(struct relay *r, int client)
{
    char line[CONTROL_LINE_MAX];
    if (read_line(client, line, sizeof line, 0)) {
        AUTO_FREE char *answer = orders_obey(r, line);
        send_line(client, answer);
    }
}

int control_socket_send(const char *socket_path, const char *order, char **answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char line[4096];
    if (answer)
        *answer = NULL;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", socket_path);
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
        return fail(GS_CANNOT, "lab: %s: no lab answers on this socket: %s", socket_path,
                    strerror(errno));
    send_line(fd, order);
    if (!read_line(fd, line, sizeof line, ANSWER_MS))
        return fail(GS_FAILED, "lab: %s: no answer within %d s", socket_path, ANSWER_MS / 1000);
    if (!strncmp(line, "error: ", strlen("error: ")))
        return fail(GS_USAGE, "lab: %s", line + strlen("error: "));
    if (answer)
        *answer = xstrdup(line);
    return GS_OK;
}
