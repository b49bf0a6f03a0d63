"""A real SLURM of one machine, on loopback: munged, slurmctld and slurmd in a folder of their own, stopped by their pid files."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# No accounting, as on many small clusters. The node has the size that is said here, whatever the machine has, and a job is
# killed soon after its time (KillWait).
_CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/d
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=10
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")


@contextmanager
def slurm_cluster() -> Iterator[Path]:
    """A running cluster of one node with two CPUs; gives its configuration, for the variable SLURM_CONF."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs SLURM ({', '.join(missing)} missing): apt-get install slurm-wlm munge")
    if os.geteuid() != 0:
        pytest.skip("needs root, to start slurmctld and slurmd")
    # Not pytest's folder: munged wants its socket where everybody may pass.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    try:
        conf = _write_conf(folder)
        try:
            _start(folder, conf)
            yield conf
        finally:
            _end_jobs({**os.environ, "SLURM_CONF": str(conf)})
            for name in ("slurmd", "slurmctld", "munged"):
                _stop(folder / f"{name}.pid")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_conf(folder: Path) -> Path:
    for name in ("ctld", "d"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    conf = folder / "slurm.conf"
    host = socket.gethostname().partition(".")[0]
    conf.write_text(_CONF.format(host=host, folder=folder, ports=_free_ports(2)), encoding="utf-8")
    return conf


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def _start(folder: Path, conf: Path) -> None:
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    files = {name: f"--{name}-file={folder}/munged.{name}" for name in ("pid", "log", "seed")}
    munged = ["munged", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket", *files.values()]
    for command in (munged, ["slurmctld"], ["slurmd"]):
        with (folder / "start.log").open("ab") as log:
            subprocess.run(command, check=True, env=environment, stdout=log, stderr=log, timeout=60)
    end = time.monotonic() + 60
    while "idle" not in _node_state(environment):
        if time.monotonic() > end:
            logs = [path.read_text(encoding="utf-8")[-2000:] for path in folder.glob("*.log")]
            raise AssertionError("the node did not become idle\n" + "\n".join(logs))
        time.sleep(0.2)


def _node_state(environment: dict[str, str]) -> str:
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def _end_jobs(environment: dict[str, str]) -> None:
    """End what a failed test left: jobs outlive their daemons."""
    subprocess.run(["scancel", "--me"], env=environment, capture_output=True, timeout=60, check=False)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done = subprocess.run(["squeue", "-h"], env=environment, capture_output=True, timeout=60, check=False)
        if not done.stdout.strip():
            return
        time.sleep(0.2)


def _stop(pid_file: Path) -> None:
    """Stop a daemon by its pid file, and wait until it is gone."""
    try:
        pid = int(pid_file.read_text(encoding="utf-8"))
        os.kill(pid, signal.SIGTERM)
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
