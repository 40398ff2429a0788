#!/bin/sh
# Examines your system as CI does. `sh refunds-ci.sh` does all steps in turn, `sh refunds-ci.sh exam` one of them.
set -eu

# Yours to change.
: "${TESTS:=npm test}"                              # they call the sandbox at $SANDBOX_URL
: "${FAIL_UNDER:=80}"                               # how much of the contract they have to meet, in percent
: "${CONTRACT:=contract.json}"                      # the contract that you have built on
: "${RECEIVER:=sh receiver.sh}"                     # starts your receiver
: "${RECEIVER_URL:=http://127.0.0.1:4000/webhooks}"
: "${RECEIVER_SECRET:=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}"
: "${RESTART:=sh restart.sh}"                       # restarts it
: "${STOP_RECEIVER:=kill \$(cat receiver.pid)}"     # ends it
: "${STATE:=node state.mjs}"                        # prints what your system believes about a refund
: "${REFUND:=node refund.mjs}"                      # issues a refund
: "${SANDBOX_PORT:=3000}"

STEPS="install sandbox tests coverage contract exam"
export SANDBOX_URL="http://127.0.0.1:$SANDBOX_PORT" REFUNDS_SANDBOX_URL="http://127.0.0.1:$SANDBOX_PORT"
export PATH="$PWD/.refunds-ci/node_modules/.bin:$PATH"

install() {
  mkdir -p .refunds-ci
  [ ! -f .npmrc ] || cp .npmrc .refunds-ci # names your registry
  npm install --prefix .refunds-ci --no-audit --no-fund @refund-contract/sandbox @refund-contract/certify
}

sandbox() {
  refund-contract-sandbox --port "$SANDBOX_PORT" > .refunds-ci/sandbox.log 2>&1 &
  echo $! > .refunds-ci/sandbox.pid
  wait_for "$SANDBOX_URL/readyz"
}

tests() { $TESTS; }

coverage() { refund-contract-sandbox coverage --fail-under "$FAIL_UNDER"; }

contract() { refund-contract-sandbox diff "$CONTRACT"; }

exam() (
  $RECEIVER > .refunds-ci/receiver.log 2>&1 &
  trap "{ kill $!; sh -c \"\$STOP_RECEIVER\"; } || true" EXIT
  wait_for "$RECEIVER_URL"
  set -- --url "$RECEIVER_URL" --secret "$RECEIVER_SECRET" --state "$STATE" --require all
  refund-contract-certify receiver --restart "$RESTART" --junit .refunds-ci/receiver.xml "$@"
  refund-contract-certify caller --run "$REFUND" --junit .refunds-ci/caller.xml "$@"
)

stop() { kill "$(cat .refunds-ci/sandbox.pid)"; }

wait_for() { curl -s -o /dev/null --retry 60 --retry-delay 1 --retry-connrefused "$1"; }

if [ $# -gt 0 ]; then
  "$1"
else
  trap '[ ! -f .refunds-ci/sandbox.pid ] || stop' EXIT
  for step in $STEPS; do
    echo "== $step"
    "$step"
  done
fi
