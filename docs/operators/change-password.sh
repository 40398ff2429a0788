# 1. On each server: the new address before the present one. Servers try both.
cat "$NEW_URL" "$DATABASE_URL_FILE" > "$DATABASE_URL_FILE.both" && mv "$DATABASE_URL_FILE.both" "$DATABASE_URL_FILE"
# 2. When every server has it, as the database's administrator: alter role refunds_serve password '…'
# 3. On each server: the new address alone.
cp "$NEW_URL" "$DATABASE_URL_FILE"
