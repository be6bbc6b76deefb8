# Steps from traces of torch.profiler: what a trace becomes, what is said of it, what is refused.
make=$top/tests/make_torch_trace
import() { gradsync import --step "$@"; }
$make >ddp.json
$ import ddp.json && cat ddp.step
$ import ddp.json
$ import ddp.json -o other.step && cmp ddp.step other.step
# A trace of a known GPU without large copies: kernels move what its data sheet says.
$make gpu='NVIDIA H200' >h200.json
$ import h200.json && grep kernel h200.step
# One of an unknown schemaVersion is read as the known.
$make schema=2 >next.json
$ import next.json && diff <(grep -v '^#' ddp.step) <(grep -v '^#' next.step)
$make comms=fsdp >fsdp.json
$ import fsdp.json && cat fsdp.step
$make comms=none >alone.json
$ import alone.json
$make strides=0 >guessed.json
$ import guessed.json
# Without step marks all of it is one step, or it is cut where the optimizer ends. The optimizer waits for the
# buckets; kernels, copies and fills move what the copies of the trace move in their time.
$make marks=0 >unmarked.json
$ import unmarked.json && grep -c '^gemm' unmarked.step
$make marks=0 optimizer=1 >cut.json
$ import cut.json && cat cut.step
$make groups=2 gradients=0 >groups.json
$ import groups.json
# Refused; nothing is written.
refused() { import "$@" -o refused.step; }
$make shapes=0 >shapes.json
$make comms=old >old.json
$make comms=none gradients=0 >none.json
$make type=int >int.json
head -c 4000 ddp.json >torn.json
gzip -c ddp.json >ddp.json.gz
printf '\0\1' >binary.json
truncate -s 2G large.json
$ for name in shapes old none int torn binary large; do refused $name.json; done
$ refused ddp.json.gz
$ ls refused.step
