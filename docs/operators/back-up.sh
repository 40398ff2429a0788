pg_basebackup --dbname "$DATABASE_URL" --pgdata "$BACKUP" --checkpoint fast
