npm run -s admin -- hold --all --reason "restored"
npm run -s admin -- payments "$PAYMENTS"
npm run -s admin -- reconcile "$PAYOUTS"
npm run -s admin -- release --all
