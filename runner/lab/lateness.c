/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/lateness.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/control_socket.h"
#include "lab/facts.h"

#include <stdlib.h>

#define FEW 100 /* packets, of which a share says nothing */

int lateness_begin(struct lateness *k)
{
    json_t *facts;
    *k = (struct lateness){0};
    int code = facts_read(&facts);
    if (code || !facts)
        return code;
    k->control = xstrdup(json_text_of(facts, "control"));
    k->late_share = json_number_value(json_object_get(facts, "late_share"));
    json_decref(facts);
    return lateness_mark(k);
}

void lateness_end(struct lateness *k)
{
    free(k->control);
    k->control = NULL;
}

int lateness_mark(struct lateness *k)
{
    AUTO_FREE char *answer = NULL;
    if (!k->control)
        return GS_OK;
    int code = control_socket_send(k->control, "stats", &answer);
    if (code)
        return code;
    AUTO_JSON json_t *o = json_loads(answer, 0, NULL);
    k->delivered = json_number_value(json_object_get(o, "delivered"));
    k->late = json_number_value(json_object_get(o, "late"));
    k->late_max_s = json_number_value(json_object_get(o, "late_max_s"));
    k->drops = json_number_value(json_object_get(o, "queue_drops")) +
               json_number_value(json_object_get(o, "memory_drops"));
    k->losses = json_number_value(json_object_get(o, "losses"));
    return GS_OK;
}

int lateness_judge(struct lateness *k, bool *late)
{
    struct lateness before = *k;
    int code = lateness_mark(k);
    double packets = k->delivered - before.delivered;
    *late = packets >= FEW && k->late - before.late > k->late_share * packets;
    return code;
}

char *lateness_text(const struct lateness *k, const struct lateness *from)
{
    if (!k->control)
        return NULL;
    return xstrfmt("%.0f of %.0f packets more than %g ms late, %.3g ms at most since its start; "
                   "%.0f dropped by queues, %.0f lost",
                   k->late - from->late, k->delivered - from->delivered, RELAY_LATE_NS * 1e-6,
                   1e3 * k->late_max_s, k->drops - from->drops, k->losses - from->losses);
}
