SELECT broker, instrument, bid_e6, ask_e6, at_us, moved_at_us FROM ticks WHERE broker = $1 AND instrument = $2
