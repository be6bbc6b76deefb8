/* SPDX-License-Identifier: Apache-2.0
 *
 * The form train of emit.h: a config for gradsync train that compares the setting with its baseline.
 * After a training it has the command of that training, otherwise a command to be replaced.
 */
#pragma once

#include "advise/evidence.h"

void emit_train(const struct steps_evidence *s, const struct evidence *of,
                const struct setting *setting);
