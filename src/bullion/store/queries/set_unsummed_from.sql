UPDATE books SET unsummed_from = $2 WHERE id = $1
