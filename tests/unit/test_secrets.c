/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char *const hides[][2] = {
    {"env WANDB_API_KEY=hunter2 x", "env WANDB_API_KEY=(hidden) x"},
    {"run --token hunter2 --n 3", "run --token (hidden) --n 3"},
    {"run --auth-token=hunter2", "run --auth-token=(hidden)"},
    {"run --password 'a b' c", "run --password (hidden) c"},
    {"-x AWS_CREDENTIALS=hunter2,-x A=1", "-x AWS_CREDENTIALS=(hidden),-x A=1"},
    {"curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: (hidden)' x"},
    {"curl -H X-Auth:hunter2 x", "curl -H X-Auth:(hidden) x"},
    {"run --password:hunter2", "run --password:(hidden)"},
    {"https://me:hunter2@host/x", "https://me:(hidden)@host/x"},
    {"launch:prefix=env MY_PASSWORD=hunter2", "launch:prefix=env MY_PASSWORD=(hidden)"},
    {"launch:prefix=A_KEY=hunter2 x", "launch:prefix=A_KEY=(hidden) x"},
    {"docker run a:b A_TOKEN=hunter2", "docker run a:b A_TOKEN=(hidden)"},
    {"[launch]\nprefix = env A_KEY=hunter2\n", "[launch]\nprefix = env A_KEY=(hidden)\n"},
    {"[launch]\nprefix = env \\\n  A_KEY=hunter2\n",
     "[launch]\nprefix = env \\\n  A_KEY=(hidden)\n"},
    {"# export A_KEY=hunter2\n[a]\n", "# export A_KEY=(hidden)\n[a]\n"},
};
static const char *const keeps[] = {
    "",
    "wan_sync:secret_file=/home/me/x",
    "[wan_sync]\nsecret_file = x\n",
    "env KEY_FILE=/x y",
    "export A_KEY=$(cat x)",
    "run --tokens --n 3",
    "https://host:80/x",
    "a=b c=d",
    "measure:passes=3",
};

TEST(a_value_is_hidden_by_its_name)
{
    for (size_t i = 0; i < sizeof hides / sizeof *hides; i++) {
        char *shown = secrets_hidden(hides[i][0]), *again = secrets_hidden(shown);
        assert_string_equal(shown, hides[i][1]);
        assert_string_equal(again, shown);
        free(again);
        free(shown);
    }
}

TEST(other_text_is_kept)
{
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
        char *shown = secrets_hidden(keeps[i]);
        assert_string_equal(shown, keeps[i]);
        free(shown);
    }
}

TEST(the_environment_gives_it_back)
{
    char *missing, *whole;
    setenv("A_KEY", "one", 1);
    setenv("API_TOKEN", "two", 1);
    unsetenv("GRADSYNC_URL_PASSWORD");
    whole = secrets_restored("env A_KEY=(hidden) x --api-token (hidden)", &missing);
    assert_string_equal(whole, "env A_KEY=one x --api-token two");
    assert_null(missing);
    free(whole);
    setenv("X_AUTH", "hunter2", 1);
    whole = secrets_restored("x -H 'X-Auth: (hidden)'", &missing);
    assert_string_equal(whole, "x -H 'X-Auth: hunter2'");
    assert_null(missing);
    free(whole);
    whole = secrets_restored("x https://me:(hidden)@host", &missing);
    assert_string_equal(missing, "GRADSYNC_URL_PASSWORD");
    free(missing);
    free(whole);
}
