# Restores the base backup in $BACKUP, and the changes in $ARCHIVE up to the time $UNTIL, into the empty folder $DATA.
cp -R "$BACKUP/." "$DATA"
chmod 700 "$DATA"
cat >> "$DATA/postgresql.auto.conf" <<END
restore_command = 'cp $ARCHIVE/%f %p'
recovery_target_time = '$UNTIL'
recovery_target_action = 'promote'
END
touch "$DATA/recovery.signal"
