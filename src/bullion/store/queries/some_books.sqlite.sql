WITH asked (id) AS (VALUES $rows)

SELECT books.*
FROM asked
CROSS JOIN books ON books.id = asked.id
