/* SPDX-License-Identifier: Apache-2.0
 *
 * Binding to the processors beside a device, in a process of its own each time.
 */
#include "launch/launcher.h"
#include "unit.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct outcome {
    char bound[256]; /* what numa_bind() adds to the recording, as JSON */
    cpu_set_t cpus;  /* afterwards */
};

/* `cpus` NULL: the kernel names none. */
static struct outcome *bound(const char *cpus)
{
    struct outcome *o =
        mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char device[] = "/tmp/gradsync-device.XXXXXX", list[64], node[64];
    assert_non_null(mkdtemp(device));
    snprintf(list, sizeof list, "%s/local_cpulist", device);
    snprintf(node, sizeof node, "%s/numa_node", device);
    for (int i = 0; cpus && i < 2; i++) {
        FILE *f = fopen(i ? node : list, "w");
        assert_non_null(f);
        fprintf(f, "%s\n", i ? "1" : cpus);
        fclose(f);
    }
    pid_t pid = fork();
    if (pid == 0) {
        json_t *json = json_object();
        numa_bind(json, device);
        o->bound[json_dumpb(json, o->bound, sizeof o->bound - 1, JSON_COMPACT)] = '\0';
        sched_getaffinity(0, sizeof o->cpus, &o->cpus);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    unlink(list);
    unlink(node);
    rmdir(device);
    return o;
}

static int first_allowed(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < 32; i++)
        if (CPU_ISSET((size_t)i, &set))
            return i;
    return -1;
}

TEST(to_one_processor)
{
    int cpu = first_allowed();
    char list[32], want[64];
    assert_true(cpu >= 0);
    snprintf(list, sizeof list, "%d,900-1000", cpu);
    struct outcome *o = bound(list);
    snprintf(want, sizeof want, "{\"numa\":1,\"cpus\":\"%s\"}", list);
    assert_string_equal(o->bound, want);
    assert_int_equal(CPU_COUNT(&o->cpus), 1);
    assert_true(CPU_ISSET((size_t)cpu, &o->cpus));
    munmap(o, sizeof *o);
}
