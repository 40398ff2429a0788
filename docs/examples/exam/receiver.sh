# Runs the receiver, and starts it again whenever it ends, as a process manager does.
echo started
while true; do node receiver.mjs || true; done
