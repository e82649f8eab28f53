-- The catalogue's version as it is when asked. A statement sees everything as it was when it began; what a
-- volatile function reads, it sees as it is now. A booking asks after it has waited for the books.
CREATE FUNCTION catalogue_version_now() RETURNS BIGINT
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT version FROM catalogue WHERE one = 1);
END
$$;
