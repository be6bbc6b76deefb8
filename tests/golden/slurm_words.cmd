# Slurm's own words in a config, and what of them reaches the job script.
dir=$top/tests/cases/slurm_words
words() { # what a cluster says of it is left out
    gradsync submit --dry-run -o camps "$@" >script 2>err || { cat err && return 1; }
    grep -E '^#SBATCH --(time|gpus-per-node|gres|gpus|gpus-per-task|dependency)=' script | uniq
}
of_time() { words $dir/t.ini --set "slurm:time=$1"; }
$ words $dir/t.ini
$ for t in 1-00:00:00 30:00 2-12 1-02:30 00:90:00 90min; do of_time $t; done
$ for t in 1:2:3:4 1-1-1 -1:00 1: :30 1:x 99-00:00:00 UNLIMITED; do of_time $t; done
$ words $dir/g.ini
$ words $dir/g.ini --set slurm:gpus_per_node=2
$ words $dir/t.ini --set slurm:sbatch.dependency=afterok:12
$ words $dir/t.ini --set slurm:sbatch.mem=0 --set slurm:mem=0
$ for config in $(grep -l '^device' $top/configs/*.ini); do words $config | grep gp | uniq | wc -l; done | uniq
