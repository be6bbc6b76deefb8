/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets an environment variable during a call into a library, then restores it. Only for settings
 * that the library reads from nowhere else.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

struct scoped_env {
    const char *name;
    char *before; /* NULL: it was not set */
};

/* value NULL: unset. */
static inline void scoped_env_set(struct scoped_env *s, const char *name, const char *value)
{
    const char *before = getenv(name);
    s->name = name;
    s->before = before ? strdup(before) : NULL;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static inline void scoped_env_restore(struct scoped_env *s)
{
    if (s->before)
        setenv(s->name, s->before, 1);
    else
        unsetenv(s->name);
    free(s->before);
}
