#!/bin/sh
# A real systemd as the first process of new namespaces, on a throw-away copy of this machine's files.
# Changes go to memory and end with it. $1: an empty folder; $2: a folder whose files are added to the copy.
# Run by tests/support/systemd.py, with `unshare`, as root, in a control group of its own.
set -e
layers=$1/layers root=$1/layers/root
mkdir "$layers" && mount -t tmpfs tmpfs "$layers"
mkdir "$layers/changes" "$layers/index" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/changes,workdir=$layers/index" "$root"
# Nothing of this machine starts there, and nothing writes to its kernel.
rm -rf "$root"/etc/systemd/system "$root"/usr/lib/systemd/system/*.wants
find "$root"/usr/lib/systemd/system-generators -type f ! -name postgresql-generator -delete
cp -a "$2/." "$root/"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for folder in run tmp dev; do mount -t tmpfs tmpfs "$root/$folder"; done
for device in null zero full random urandom tty; do
    touch "$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/run/out" "$root/run/before"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs tmpfs "$root/dev/shm"
mount --bind "$1" "$root/run/out"
cd "$root"
pivot_root . run/before
umount -l /run/before
mount --make-rshared /  # systemd mounts credentials in a process of its own.
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=tests.target \
    --log-target=console --log-level=info --show-status=no
