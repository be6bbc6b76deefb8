/* SPDX-License-Identifier: Apache-2.0
 *
 * usage COMMAND…   runs it; then prints its wall time and CPU time in seconds and the most memory
 * that it held, in bytes. Exits as the command does.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    double start = now_s();
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    int status = 0;
    struct rusage used = {0};
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
        perror("usage");
        return 1;
    }
    printf("%.6f %.6f %ld\n", now_s() - start, seconds(used.ru_utime) + seconds(used.ru_stime),
           used.ru_maxrss * 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
