# After a restore: holds refunds, takes back what the payment system knows ($PAYMENTS, $PAYOUTS), and releases them.
set -e # nothing is released when a step fails
npm run -s admin -- hold --all --reason "restored"
npm run -s admin -- payments "$PAYMENTS"
npm run -s admin -- reconcile "$PAYOUTS"
npm run -s admin -- release --all
