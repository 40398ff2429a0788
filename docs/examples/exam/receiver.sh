echo started
while true; do node receiver.mjs || true; done
