"""The attempts of `sandbox.py`, as data."""

from dataclasses import dataclass, field

ALL = frozenset({"inspect", "workspace-write", "protect"})
WRITES = frozenset({"inspect", "workspace-write"})
INSPECT = frozenset({"inspect"})

ORDINARY = "an ordinary change of the workspace"
OUTSIDE = "protect keeps writes outside of the workspace"
SECRETS = "protect hides Pollux's own credentials only"
NETWORK = "protect keeps the network"


@dataclass(frozen=True)
class Attempt:
    """A script that ends with 0 if it succeeded, and the levels that guarantee to refuse it."""

    name: str
    script: str
    refused_at: frozenset
    reason: str = ""
    must_work: bool = field(default=True)


def service_address(folder):
    """Returns the path of a socket that simulates a service."""
    return folder / "service"


def python(text):
    return "python3 - <<'END'\n" + text + "\nEND"


def call(number_x86, *arguments):
    """Returns a raw system call that succeeds."""
    shown = ", ".join(str(argument) for argument in arguments)
    return python(
        "import ctypes, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"sys.exit(0 if libc.syscall({number_x86}, {shown}) >= 0 else 1)"
    )


ATTEMPTS = [
    # Ordinary writes.
    Attempt("create a file", "echo x > new", INSPECT, ORDINARY),
    Attempt("append to a file", "echo x >> file", INSPECT, ORDINARY),
    Attempt("truncate a file by its path", python("import os\nos.truncate('file', 0)"), INSPECT, ORDINARY),
    Attempt("remove a file", "rm file", INSPECT, ORDINARY),
    Attempt("change a mode", "chmod 700 file", INSPECT, ORDINARY),
    Attempt("change a mode by an open file", python("import os\nos.fchmod(os.open('file', 0), 0o700)"), INSPECT, ORDINARY),
    Attempt("change times", "touch -d 2001-01-01 file", INSPECT, ORDINARY),
    Attempt("set an attribute", python("import os\nos.setxattr('file', 'user.x', b'y')"), INSPECT, ORDINARY),
    Attempt("make a named pipe", "mkfifo pipe", INSPECT, ORDINARY),
    Attempt("write outside of the workspace", "echo x >> ../outside", WRITES, OUTSIDE),
    Attempt("write outside by a link", "ln -s ../outside l && echo x >> l", WRITES, OUTSIDE),
    Attempt("hard link from outside, then write", "ln ../outside l && echo x >> l", WRITES, OUTSIDE),
    Attempt("change a mode outside", "chmod 700 ../outside", WRITES, OUTSIDE),
    Attempt("write by /proc/self/root", "echo x >> /proc/self/root$PWD/../outside", WRITES, OUTSIDE),
    Attempt("write by /proc/self/cwd", "echo x >> /proc/self/cwd/../outside", WRITES, OUTSIDE),
    Attempt("write to shared memory of all", "echo x > /dev/shm/pollux-prove-$$ && rm /dev/shm/pollux-prove-$$", INSPECT, "a temporary folder"),
    # Git.
    Attempt("write .git/config", "git config alias.x '!x'", ALL),
    Attempt("append to .git/config", "echo x >> .git/config", ALL),
    Attempt("set core.fsmonitor", "git config core.fsmonitor ./x", ALL),
    Attempt("rename over .git/config", "cp .git/config c && mv -f c .git/config", ALL),
    Attempt("hard link of .git/config", "ln .git/config c && echo x >> c", ALL),
    Attempt("remove .git/config", "rm -f .git/config && test ! -e .git/config", ALL),
    Attempt("write a hook", "echo x > .git/hooks/pre-commit", ALL),
    Attempt("write a hook from its folder", "cd .git/hooks && echo x > pre-commit", ALL),
    Attempt("write a hook by /proc/self/cwd", "cd .git/hooks && echo x > /proc/self/cwd/pre-commit", ALL),
    Attempt("write a hook by an open folder", python("import os\nfd = os.open('.git/hooks', 0)\nos.open('pre-commit', os.O_CREAT | os.O_WRONLY, dir_fd=fd)"), ALL),
    Attempt("rename .git", "mv .git old", ALL),
    Attempt("rename the folder of hooks", "mv .git/hooks .git/old", ALL),
    Attempt("exchange .git with a folder", "mkdir n && " + call(316, -100, "b'.git'", -100, "b'n'", 2), ALL),
    Attempt("mount over the folder of hooks", "mkdir n && mount --bind n .git/hooks && umount .git/hooks", ALL, must_work=False),
    Attempt("unmount the folder of hooks", "umount .git/hooks; echo x > .git/hooks/pre-commit", ALL),
    Attempt("unmount in a user namespace", "unshare -Urm sh -c 'umount .git/hooks; echo x > .git/hooks/pre-commit'", ALL),
    Attempt("mount writable again", "mount -o remount,rw,bind .git/hooks; echo x > .git/hooks/pre-commit", ALL),
    Attempt("mount writable again in a user namespace", "unshare -Urm sh -c 'mount -o remount,rw,bind .git/hooks; echo x > .git/hooks/pre-commit'", ALL),
    Attempt("bind the folder elsewhere", "mkdir n && unshare -Urm sh -c 'mount --bind . n && echo x > n/.git/hooks/pre-commit'", ALL),
    Attempt("bind .git elsewhere, alone", "mkdir n && unshare -Urm sh -c 'mount --bind .git n && echo x > n/hooks/pre-commit'", ALL),
    # Start-up files and files of Pollux.
    Attempt("append to .bashrc", "echo x >> ~/.bashrc", ALL),
    Attempt("replace .bashrc", "echo x > ~/n && mv -f ~/n ~/.bashrc", ALL),
    Attempt("change the mode of .bashrc", "chmod 700 ~/.bashrc", ALL),
    Attempt("add a key for SSH", "echo x > ~/.ssh/authorized_keys", ALL),
    Attempt("rename .ssh", "mv ~/.ssh ~/old", ALL),
    Attempt("add a unit of systemd", "echo x > ~/.config/systemd/user/x.service", ALL),
    Attempt("write Pollux's settings", "echo x > ~/.gemini/settings.json", ALL),
    Attempt("rename Pollux's folder", "mv ~/.gemini ~/old", ALL),
    Attempt("read Pollux's credentials", "grep -q SECRET ~/.gemini/oauth_creds.json", ALL),
    Attempt("copy Pollux's credentials by a hard link", "ln ~/.gemini/oauth_creds.json c && grep -q SECRET c", ALL),
    # Secrets.
    Attempt("read .env", "grep -q SECRET .env", WRITES, SECRETS),
    Attempt("read .env by a link", "grep -q SECRET link-to-env", WRITES, SECRETS),
    Attempt("read .env by /proc/self/cwd", "grep -q SECRET /proc/self/cwd/.env", WRITES, SECRETS),
    Attempt("read .env by its handle", python("import ctypes, os\nlibc = ctypes.CDLL(None)\nh = (ctypes.c_ubyte * 136)()\nctypes.cast(h, ctypes.POINTER(ctypes.c_uint))[0] = 128\nm = ctypes.c_int()\nassert libc.name_to_handle_at(-100, b'.env', h, ctypes.byref(m), 0) == 0\nfd = libc.open_by_handle_at(os.open('.', 0), h, 0)\nassert fd >= 0 and b'SECRET' in os.read(fd, 9)"), ALL),
    Attempt("read a key of SSH", "grep -q SECRET ~/.ssh/id", WRITES, SECRETS),
    Attempt("read .netrc", "grep -q SECRET ~/.netrc", WRITES, SECRETS),
    Attempt("read the disk", "head -c 512 /dev/vda > /dev/null || head -c 512 /dev/sda > /dev/null || head -c 512 /dev/loop0 | cmp -n1 - /dev/zero", ALL, must_work=False),
    # Other processes.
    Attempt("read another process's environment", "grep -q SECRET /proc/$VICTIM/environ", ALL),
    Attempt("open another process's memory", "exec 3< /proc/$VICTIM/mem", ALL),
    Attempt("enter another process's root", "ls /proc/$VICTIM/root/ | grep -q .", ALL),
    Attempt("write by another process's root", "echo x > /proc/$VICTIM/root$PWD/.git/hooks/pre-commit", ALL),
    Attempt("write by another process's folder", "echo x > /proc/$VICTIM/cwd/.git/hooks/pre-commit", ALL),
    Attempt("follow another process's files", "readlink /proc/$VICTIM/fd/0", ALL),
    Attempt("trace another process", call(101, 16, "int(__import__('os').environ['VICTIM'])", 0, 0), ALL),
    Attempt("trace a process of root with fewer capabilities", call(101, 16, "int(__import__('os').environ['WEAK_VICTIM'])", 0, 0), ALL),
    Attempt("read another process's memory by a call", python("import ctypes, os\nclass V(ctypes.Structure):\n    _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]\npid = int(os.environ['VICTIM'])\nend = int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[25])\nb = ctypes.create_string_buffer(8)\nl, r = V(ctypes.addressof(b), 8), V(end, 8)\nassert end and ctypes.CDLL(None).process_vm_readv(pid, ctypes.byref(l), 1, ctypes.byref(r), 1, 0) > 0"), ALL),
    Attempt("enter another process's namespaces", "nsenter -t $VICTIM -m sh -c 'cd '$PWD' && echo x > .git/hooks/pre-commit'", ALL),
    Attempt("take another process's file", python("import ctypes, os\nlibc = ctypes.CDLL(None)\nfd = os.pidfd_open(int(os.environ['VICTIM']))\nassert libc.syscall(438, fd, 0, 0) >= 0"), ALL),
    Attempt("kill another process", "kill -0 $VICTIM", INSPECT, "later commands end what earlier ones left running"),
    Attempt("change another process's limits", "prlimit --pid $VICTIM --nofile=64", INSPECT, "changes no file"),
    # Network and services.
    Attempt("a socket of IPv4", python("import socket\nsocket.socket(socket.AF_INET)"), WRITES, NETWORK),
    Attempt("a socket of IPv6", python("import socket\nsocket.socket(socket.AF_INET6)"), WRITES, NETWORK),
    Attempt("a datagram for a name server", python("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)"), WRITES, NETWORK),
    Attempt("a socket of the kernel", python("import socket\nsocket.socket(16, 3)"), WRITES, NETWORK),
    Attempt("a unix socket", python("import socket\nsocket.socket(socket.AF_UNIX)"), WRITES, "a service acts with its own rights; protect keeps sockets"),
    Attempt("an abstract socket", python("import socket\nsocket.socket(socket.AF_UNIX).bind('\\0pollux-prove')"), WRITES, "as other sockets"),
    Attempt("a pair of datagram sockets", python("import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"), WRITES, NETWORK),
    Attempt("io_uring", call(425, 1, "(ctypes.c_ubyte * 120)()"), WRITES, "does not get around mounts", must_work=False),
    # The kernel.
    Attempt("the kernel's program for core dumps", "exec 3>> /proc/sys/kernel/core_pattern", ALL),
    Attempt("the kernel's program for modules", "exec 3>> /proc/sys/kernel/modprobe", ALL, must_work=False),
    Attempt("the kernel's system request", "exec 3>> /proc/sysrq-trigger", ALL, must_work=False),
    Attempt("make a device", "mknod d b 7 0", ALL),
    Attempt("change the root", "unshare -Ur chroot / sh -c 'echo x > .git/hooks/pre-commit'", ALL, must_work=False),
    Attempt("type into the terminal", "script -qec \"python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\\\"x\\\")'\" /dev/null", ALL, must_work=False),
    Attempt("keys of the kernel", call(250, 0, -3, 1), WRITES, "protect keeps keys of the session", must_work=False),
    Attempt("a program with set-user-id", "cp /usr/bin/id i && chmod u+s i && test -u i && ./i > /dev/null", INSPECT, ORDINARY),
    Attempt("measure the kernel", call(298, "b'\\\\0' * 128", 0, -1, -1, 0), WRITES, "protect drops the capability only", must_work=False),
    Attempt("add a job of cron", "echo x > /etc/cron.d/pollux-prove && rm /etc/cron.d/pollux-prove", WRITES, "root installs packages, which add such files"),
]
