/* SPDX-License-Identifier: Apache-2.0
 *
 * A run in a lab is refused if its config describes other links than the lab has.
 */
#include "captured.h"
#include "config/config.h"
#include "lab/probe.h"
#include "lab/spec.h"

#define SITES "[sites]\nnorth = gpus=1\neast = gpus=1\nsouth = gpus=1\n"
#define LINKS "[links]\nrate = 40Mbit/s\nrtt = 20ms\nmtu = 1500\ncongestion = cubic\n"

static struct config *config_of(const char *text)
{
    struct config *c;
    assert_int_equal(config_from_text(&c, "run.ini", text, strlen(text), NULL), GS_OK);
    return c;
}

static void enter(const char *text)
{
    const pid_t nobody[LAB_SITES_MAX] = {0};
    char path[] = "/tmp/gradsync-test-XXXXXX";
    struct lab_spec spec;
    struct config *c = config_of(text);
    assert_int_equal(lab_spec_read(&spec, c), GS_OK);
    json_t *facts = lab_facts_make(&spec, 0, nobody, "");
    close(mkstemp(path));
    assert_int_equal(lab_facts_write(facts, path), GS_OK);
    setenv(LAB_FACTS_VARIABLE, path, 1);
    json_decref(facts);
    lab_spec_free(&spec);
    config_free(c);
}

static void leave(void)
{
    const char *facts = getenv(LAB_FACTS_VARIABLE);
    assert_non_null(facts);
    unlink(facts);
    unsetenv(LAB_FACTS_VARIABLE);
}

static int check(const char *text, const char *workload)
{
    struct config *c = config_of(text);
    char name[32];
    struct plan p = {.config = c, .workload = name};
    snprintf(name, sizeof name, "%s", workload);
    captured[0] = '\0';
    int code = probe_same_links(&p);
    config_free(c);
    return code;
}

static int runs(const char *text)
{
    return check(text, "wan_sync");
}

TEST_CAPTURED(equal_links_run)
{
    assert_int_equal(runs(SITES LINKS), GS_OK); /* outside of a lab */
    enter(SITES LINKS);
    assert_int_equal(runs(SITES LINKS), GS_OK);
    assert_int_equal(runs(SITES LINKS "queue = 1MiB\n[lab]\nseed = 3\n"), GS_OK);
    assert_int_equal(runs(SITES LINKS "north-east = rate=39.5Mbit/s rtt=20.3ms\n"), GS_OK);
    leave();
}

TEST_CAPTURED(no_links_run)
{
    enter(SITES LINKS);
    assert_int_equal(runs("[launch]\nranks = 3\n"), GS_OK);
    assert_int_equal(runs(SITES "[links]\nrtt = 40ms\n"), GS_OK);
    assert_int_equal(check(SITES LINKS "loss = 1%\n", "wan_links"), GS_OK);
    leave();
}

TEST_CAPTURED(other_links_are_refused)
{
    static const struct {
        const char *config, *says;
    } others[] = {
        {SITES LINKS "east>south = rtt=40ms\n", "RTT of east>south is 20 ms in this lab, and 40"},
        {SITES LINKS "east-south = rate=10Mbit/s\n",
         "rate of east>south is 40 Mbit/s in this lab, and 10 Mbit/s"},
        {SITES LINKS "loss = 0.1%\n", "loss of north>east is 0% in this lab, and 0.1%"},
        {SITES "west = gpus=1\n" LINKS, "this lab has 3 sites, and the config has 4"},
        {"[sites]\nnorth = gpus=1\nsouth = gpus=1\neast = gpus=1\n" LINKS,
         "link 1 is north>east in this lab, and north>south"},
        {SITES "[links]\nrate = 40Mbit/s\nrtt = 20ms\n", "mtu is 1500 bytes in this lab, and 9000"},
        {"[sites]\nnorth = gpus=1\neast = gpus=1 down=9Mbit/s\nsouth = gpus=1\n" LINKS,
         "rate of north>east is 40 Mbit/s in this lab, and 9 Mbit/s"},
        {SITES "[links]\nrate = 40Mbit/s\nrtt = 20ms\nmtu = 1500\ncongestion = bbr\n",
         "congestion is cubic in this lab, and bbr"},
    };
    enter(SITES LINKS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(runs(others[i].config), GS_USAGE);
        captured_says(others[i].says);
        captured_says("run.ini: ");
        captured_says("give gradsync lab and this command the same config and --set");
    }
    leave();
}
