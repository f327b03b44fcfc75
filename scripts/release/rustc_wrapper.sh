#!/bin/sh
# Links the binary for speed, although its package is built for size: the link optimizes all code as its
# own options say, and a package has only one level for its library and its binary.
case " $* " in
*" --crate-name frontend_map "*" --crate-type bin "*) set -- "$@" -Copt-level=3 ;;
esac
exec "$@"
