/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/environment.h"

#include "base/program_dir.h"
#include "base/text.h"
#include "lab/facts.h"

#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *name, *value;
} defaults[] = {
    {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"}, {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "tcp,self,vader"}, /* vader: between ranks of one site alone */
    {"OMPI_MCA_btl_tcp_if_include", "wan0"}, {"OMPI_MCA_oob_tcp_if_include", "ctl0"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"}, /* all sites share the processors of one machine */
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},       /* who is not is so inside */
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"NCCL_SOCKET_IFNAME", "wan0"},
    {"GLOO_SOCKET_IFNAME", "wan0"},
};

void environment_set(const char *facts_path, const char *folder)
{
    /* mpirun splits its agent at spaces, which this program's folder may have. */
    AUTO_FREE char *program = xstrfmt("%s/gradsync", program_dir()),
                   *link = xstrfmt("%s/gradsync", folder);
    AUTO_FREE char *agent = xstrfmt("%s lab-enter", symlink(program, link) ? program : link);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        setenv(defaults[i].name, defaults[i].value, 0);
    setenv("OMPI_MCA_plm", "rsh", 1); /* no other launcher finds the sites */
    setenv("OMPI_MCA_plm_rsh_agent", agent, 1);
    /* Its session folders go with the lab, and are not those of the machine's own root. */
    setenv("OMPI_MCA_orte_tmpdir_base", folder, 1);
    setenv("OMPI_MCA_btl_vader_backing_directory", folder, 1);
    setenv(FACTS_VARIABLE, facts_path, 1);
    /* lab-enter and lab-set are found, whatever this program was started as. */
    const char *before = getenv("PATH");
    AUTO_FREE char *path =
        xstrfmt("%s%s%s", before ? before : "", before ? ":" : "", program_dir());
    setenv("PATH", path, 1);
}
