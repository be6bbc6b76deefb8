/* SPDX-License-Identifier: Apache-2.0
 *
 * Binding to the processors of a mask file, in a process of its own each time.
 */
#include "launch/launcher.h"
#include "unit.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct outcome {
    struct numa numa;
    cpu_set_t cpus; /* afterwards */
};

/* `mask` NULL: no such file. */
static struct outcome *bound(const char *mask)
{
    struct outcome *o =
        mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char path[] = "/tmp/gradsync-mask.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    if (mask)
        assert_int_equal(write(fd, mask, strlen(mask)), (int)strlen(mask));
    close(fd);
    if (!mask)
        unlink(path);
    pid_t pid = fork();
    if (pid == 0) {
        numa_bind(&o->numa, path);
        sched_getaffinity(0, sizeof o->cpus, &o->cpus);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    unlink(path);
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
    char mask[32], name[16];
    if (!numa_here() || cpu < 0)
        skip();
    snprintf(mask, sizeof mask, "00000000,%08x\n", 1u << cpu);
    snprintf(name, sizeof name, "%d", cpu);
    struct outcome *o = bound(mask);
    assert_string_equal(o->numa.why, "");
    assert_string_equal(o->numa.cpus, name);
    assert_true(o->numa.node >= 0);
    assert_int_equal(CPU_COUNT(&o->cpus), 1);
    assert_true(CPU_ISSET((size_t)cpu, &o->cpus));
    munmap(o, sizeof *o);
}

TEST(what_cannot_be)
{
    static const struct {
        const char *mask, *why;
    } cases[] = {{NULL, "the kernel does not say"},
                 {"80000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000\n",
                  "may use none of"}};
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome *o = bound(cases[i].mask);
        assert_non_null(strstr(o->numa.why, numa_here() ? cases[i].why : "built without hwloc"));
        assert_string_equal(o->numa.cpus, "");
        assert_true(CPU_EQUAL(&o->cpus, &before)); /* as it was */
        munmap(o, sizeof *o);
    }
}
