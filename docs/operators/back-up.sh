# Makes a base backup of the running database in the folder $BACKUP.
pg_basebackup --dbname "$DATABASE_URL" --pgdata "$BACKUP" --checkpoint fast
