/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/gpus_here.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* COUNTED + n: n GPUs. SOME: only the plugin can find out. */
enum answer { SOME, NO_DRIVER, NO_GPU, COUNTED };
enum { COUNT_MAX = 200 };

/* From cuda.h, whose ABI is stable. */
#define CUDA_ERROR_NO_DEVICE 100

/* Devices of other vendors: their plugins need no CUDA. */
static const char *const others[] = {"/dev/kfd", "/dev/accel"};

static enum answer ask_driver(void)
{
    int (*init)(unsigned), (*count)(int *), n = 0;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda)
        return NO_DRIVER;
    void *init_symbol = dlsym(cuda, "cuInit"), *count_symbol = dlsym(cuda, "cuDeviceGetCount");
    memcpy(&init, &init_symbol, sizeof init);
    memcpy(&count, &count_symbol, sizeof count);
    if (!init || !count)
        return SOME;
    int error = init(0);
    if (!error)
        error = count(&n);
    if (error == CUDA_ERROR_NO_DEVICE || (!error && n == 0))
        return NO_GPU;
    return error || n > COUNT_MAX ? SOME : (enum answer)(COUNTED + n);
}

/* In a child process, because the driver keeps threads and descriptors open until its process ends. */
static enum answer ask(void)
{
    int status;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!access(others[i], F_OK))
            return SOME;
    pid_t child = fork();
    if (child == 0)
        _exit((int)ask_driver());
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return SOME;
    return (enum answer)WEXITSTATUS(status);
}

static enum answer answer_here(void)
{
    static bool asked;
    static enum answer answer;
    if (!asked)
        answer = ask();
    asked = true;
    return answer;
}

int gpus_here_count(void)
{
    enum answer answer = answer_here();
    return answer > COUNTED ? (int)answer - (int)COUNTED : 0;
}

const char *gpus_here_missing(void)
{
    static const char *const why[] = {
        [NO_DRIVER] = "no NVIDIA driver on this machine: run where nvidia-smi lists GPUs",
        [NO_GPU] = "the NVIDIA driver sees no GPU: run where nvidia-smi lists some "
                   "(CUDA_VISIBLE_DEVICES may hide them)",
    };
    enum answer answer = answer_here();
    return (size_t)answer < sizeof why / sizeof *why ? why[answer] : NULL;
}
