-- The logins of accounts that were made or changed after a version of the catalogue.
SELECT DISTINCT subject FROM changes WHERE version > $2 AND kind = 'account' AND broker = $1 LIMIT $3
