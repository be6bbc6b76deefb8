/* SPDX-License-Identifier: Apache-2.0 */
#include "record/provenance.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

TEST(what_tunes_communication_is_kept)
{
    char *environment[] = {"NCCL_ALGO=Ring",        "UCX_TLS=rc,cuda",
                           "OMPI_MCA_btl=tcp,self", "OMPI_MCA_coll_tuned_use_dynamic_rules=1",
                           "NCCL_DEBUG=",           NULL};
    json_t *env = provenance_env(environment);
    assert_int_equal(json_object_size(env), 5);
    assert_string_equal(json_string_value(json_object_get(env, "NCCL_ALGO")), "Ring");
    assert_string_equal(json_string_value(json_object_get(env, "UCX_TLS")), "rc,cuda");
    assert_string_equal(json_string_value(json_object_get(env, "OMPI_MCA_btl")), "tcp,self");
    assert_string_equal(json_string_value(json_object_get(env, "NCCL_DEBUG")), "");
    json_decref(env);
}

TEST(nothing_else_of_the_environment_is)
{
    char *environment[] = {"HOME=/root",
                           "AWS_SECRET_ACCESS_KEY=hunter2",
                           "XNCCL_ALGO=Ring",
                           "nccl_algo=Ring",
                           "PMIX_SECURITY_MODE=munge",
                           "OMPI_COMM_WORLD_RANK=0",
                           "OMPI_UNIVERSE_SIZE=2",
                           "OMPI_MCA_orte_hnp_uri=123.0;tcp://10.0.0.1:4242",
                           "OMPI_MCA_ess_base_jobid=42",
                           "OMPI_MCA_pmix=^s1",
                           "OMPI_MCA_btl_vader_backing_directory=/dev/shm/x",
                           "OMPI_MCA_some_uri=tcp://10.0.0.1",
                           "NCCL",
                           NULL};
    json_t *env = provenance_env(environment);
    assert_int_equal(json_object_size(env), 0);
    json_decref(env);
}

TEST(a_secret_keeps_its_name_and_loses_its_value)
{
    char *environment[] = {"NCCL_NET_API_KEY=hunter2", "UCX_auth_token=hunter2",
                           "OMPI_MCA_password=hunter2", "NCCL_My_Secret=hunter2", NULL};
    json_t *env = provenance_env(environment);
    assert_int_equal(json_object_size(env), 4);
    char *text = json_dumps(env, 0);
    assert_null(strstr(text, "hunter2"));
    free(text);
    json_decref(env);
}

TEST(a_host_says_what_it_is)
{
    json_t *host = provenance_host(3);
    assert_int_equal(json_integer_value(json_object_get(host, "rank")), 3);
    assert_true(json_integer_value(json_object_get(host, "cores")) >= 1);
    assert_true(json_integer_value(json_object_get(host, "memory_B")) > 1 << 20);
    assert_true(*json_string_value(json_object_get(host, "cpu")));
    assert_true(strstr(json_string_value(json_object_get(host, "kernel")), "Linux") != NULL);
    json_decref(host);
}

TEST(the_header_names_run_config_and_overrides)
{
    char *overrides[] = {"launch:ranks=4", NULL};
    struct config config = {.text = "[null]\nsize = 8\n", .overrides = overrides};
    struct plugin plugin = {.wl = {.version = "1.0"}};
    struct plan plan = {.set = {.platform = {.name = "here"}, .launch = {.ranks = 4, .nodes = 1}},
                        .config = &config,
                        .workload = "null",
                        .label = "quick",
                        .plugin = &plugin,
                        .seed = 7};
    json_t *h = provenance_header(&plan, "data/raw/here/null/20250131T120000Z-quick-12ab/", 2, 3);
    assert_string_equal(json_string_value(json_object_get(h, "type")), "header");
    assert_string_equal(json_string_value(json_object_get(h, "run_id")),
                        "20250131T120000Z-quick-12ab");
    assert_string_equal(json_string_value(json_object_get(h, "config")), config.text);
    assert_string_equal(json_string_value(json_array_get(json_object_get(h, "overrides"), 0)),
                        overrides[0]);
    assert_int_equal(json_integer_value(json_object_get(h, "launch")), 2);
    assert_int_equal(json_integer_value(json_object_get(h, "attempt")), 3);
    assert_int_equal(json_integer_value(json_object_get(h, "seed")), 7);
    json_decref(h);
}
