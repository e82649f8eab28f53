SELECT count(*) AS requests FROM hedge_requests WHERE state = 'broken'
