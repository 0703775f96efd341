#!/bin/sh
set -e
# $1 is remove or upgrade for a deb, and the number of remaining versions for an rpm.
case "$1" in remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now catalogue.service
	fi
	;;
esac
