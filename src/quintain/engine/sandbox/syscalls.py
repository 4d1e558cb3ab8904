"""The filter on system calls: what no model needs and every break-out would."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import IO

CLONE_NAMESPACES = 0x7E020000  # CLONE_NEWNS|NEWCGROUP|NEWUTS|NEWIPC|NEWUSER|NEWPID|NEWNET
AF_UNIX = 1

FORBIDDEN = (
    "acct",
    "add_key",
    "bpf",
    "chroot",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "memfd_secret",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pidfd_getfd",
    "pidfd_open",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "reboot",
    "request_key",
    "setdomainname",
    "sethostname",
    "setns",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
)
# Calls that older libraries do not know by name; from 424 on, a call has the same number on every architecture.
NUMBERS = {"memfd_secret": 447, "pidfd_getfd": 438, "pidfd_open": 434}


def filter_available() -> bool:
    """Whether the filter can be built here."""
    try:
        import pyseccomp  # noqa: F401
    except (ImportError, RuntimeError, OSError):
        return False
    return True


def write_filter() -> IO[bytes]:
    """Compile the filter into an anonymous file that bubblewrap can read."""
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in FORBIDDEN:
        try:
            rules.add_rule(seccomp.ERRNO(errno.EPERM), NUMBERS.get(name, name))
        except (ValueError, OSError):
            continue  # a call that this architecture does not have
    # The flags of clone3 lie in memory, where a filter cannot look: glibc falls back to clone when it is absent.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for bit in (1 << shift for shift in range(32) if CLONE_NAMESPACES & (1 << shift)):
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, bit, bit))
    rules.add_rule(seccomp.ERRNO(errno.EACCES), "socket", seccomp.Arg(0, seccomp.NE, AF_UNIX))
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller passes its descriptor on and closes it
    rules.export_bpf(file)
    file.flush()
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return file
