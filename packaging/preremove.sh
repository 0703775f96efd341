#!/bin/sh
set -e
# deb says remove or upgrade, rpm how many versions will be left.
case "$1" in remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now catalogue.service
	fi
	;;
esac
