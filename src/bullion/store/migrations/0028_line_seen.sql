-- oldest level: 1
-- What a FIX line has seen besides fills and answers, so that the next process that holds it counts nothing twice: of
-- each order that needs it, by the line's name for it. `seen` is JSON.
CREATE TABLE line_seen (
    line TEXT NOT NULL,
    name TEXT NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (line, name)
);
