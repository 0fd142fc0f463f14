#!/bin/sh
# The example that serves maps from Redis; it says "skipped" where no redis-server is installed.
if [ -n "${RUN:-}" ]; then
    . tests/checks
    skip "redis-server would run here, and the tool under $RUN"
    end
    exit
fi
exec sh examples/redis/run.sh
