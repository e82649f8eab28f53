UPDATE tokens SET deleted_at_us = $2 WHERE token_id = $1
