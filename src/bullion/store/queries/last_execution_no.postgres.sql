SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_no FROM venue_execution_numbers
