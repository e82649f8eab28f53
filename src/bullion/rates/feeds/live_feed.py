"""The live feed without its lines: takes what sources deliver, and says which ticks to publish.

It applies the rules of `guard`, `choice` and `parity` to what it knows of each instrument at each source.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import msgspec

from bullion.rates.tick import PLACES, Tick

from .choice import Candidate, Choice, choose
from .guard import Drop, GuardRules, QuoteHistory, accepted, judge, suspended
from .parity import off_parity
from .quote import Alive, Item, Quote, Unreadable, apart
from .source_settings import FeedSettings, GuardNumbers, SourceInstrument, SourceSettings
from .status import FeedStatus, HeldStatus, InstrumentStatus, QuoteStatus, SourceStatus

_US_PER_S = 1_000_000
_US_PER_MS = 1000


class _Line:
    """The line to a source."""

    def __init__(self, settings: SourceSettings) -> None:
        self.settings = settings
        self.connected = False
        self.heard_us: int | None = None
        self.away_since_us: int | None = None
        self.error: str | None = None

    def is_open(self, now_us: int) -> bool:
        return self.settings.hours is None or self.settings.hours.is_open(now_us)

    def is_live(self, now_us: int) -> bool:
        quiet_us = self.settings.alive_s * _US_PER_S
        if not self.settings.pushes:
            quiet_us += 2 * self.settings.poll_ms * _US_PER_MS
        return self.connected and self.heard_us is not None and _within(self.heard_us, now_us, quiet_us)


class _Track:
    """One instrument at one source."""

    def __init__(self, line: _Line, instrument: SourceInstrument, numbers: GuardNumbers) -> None:
        self.line = line
        self.instrument = instrument
        self.rules = GuardRules(numbers, _e6(instrument.lowest), _e6(instrument.highest))
        self.history = QuoteHistory()
        self.good_since_us: int | None = None
        self.drops: Counter[str] = Counter()

    @property
    def source(self) -> str:
        return self.line.settings.name

    def is_good(self, now_us: int) -> bool:
        good = self.history.good
        if good is None or not self.history.standing or not self.line.is_open(now_us):
            return False
        if self.line.settings.pushes:
            return self.line.is_live(now_us)
        return _within(good.received_us, now_us, 2 * self.line.settings.poll_ms * _US_PER_MS)

    def look(self, now_us: int) -> Candidate:
        if not self.line.is_open(now_us):
            # What it said before it closed is not its price when it opens again.
            self.history = suspended(self.history)
        if not self.is_good(now_us):
            self.good_since_us = None
        elif self.good_since_us is None:
            self.good_since_us = now_us
        return Candidate(self.source, self.good_since_us, self.history.level_e6, self.history.level_us)

    def stated_e6(self, now_us: int) -> int | None:
        """What its source says now, whether believed or held."""
        held = self.history.held
        if held is not None and self.line.is_live(now_us):
            fresh = now_us - held.newest.received_us <= self.rules.numbers.old_s * _US_PER_S
            return held.newest.level_e6 if fresh and held.standing else None
        return self.history.level_e6 if self.is_good(now_us) else None

    def tick(self, now_us: int) -> Tick | None:
        """The quote that stands. A live line confirms it now; a polled source only at its own time."""
        good = self.history.good
        if good is None or good.bid_e6 is None or good.ask_e6 is None:
            return None
        at_us = now_us if self.line.settings.pushes else min(now_us, good.at_us or good.received_us)
        return Tick(self.instrument.instrument, good.bid_e6, good.ask_e6, at_us, at_us)

    def status(self, now_us: int) -> QuoteStatus:
        good, held = self.history.good, self.history.held
        held_status = None
        if held is not None and held.newest.bid_e6 is not None and held.newest.ask_e6 is not None:
            held_status = HeldStatus(held.newest.bid_e6, held.newest.ask_e6, held.since_us, held.count)
        return QuoteStatus(
            self.source,
            self.is_good(now_us),
            None if good is None else good.bid_e6,
            None if good is None else good.ask_e6,
            None if good is None else good.at_us,
            None if good is None else good.received_us,
            held_status,
            dict(self.drops),
        )


class LiveFeed:
    def __init__(self, settings: FeedSettings) -> None:
        self.settings = settings
        self.switches = 0
        self.preferred: dict[str, str] = {}
        """By instrument: the source that the desk prefers to the order of the settings."""
        self._insisted: dict[str, tuple[str, int]] = {}
        """By instrument: the source that the desk wants at once, and when it said so."""
        self._lines = {each.name: _Line(each) for each in settings.sources}
        self._tracks: dict[str, dict[str, _Track]] = {}
        for source in settings.sources:
            for each in source.instruments:
                numbers = settings.guards.get(each.instrument, GuardNumbers())
                track = _Track(self._lines[source.name], each, numbers)
                self._tracks.setdefault(each.instrument, {})[source.name] = track
        self._choices = dict.fromkeys(self._tracks, Choice())
        self._published: dict[str, Tick] = {}

    @property
    def drops(self) -> Mapping[tuple[str, str], int]:
        """By source and reason."""
        found: Counter[tuple[str, str]] = Counter()
        for track in self._all_tracks():
            for reason, number in track.drops.items():
                found[track.source, reason] += number
        return found

    def resume(self, ticks: Iterable[Tick], last: FeedStatus | None = None) -> None:
        """Compare first quotes with what was published last, by any node, and go on with its choices."""
        for each in () if last is None else last.instruments:
            sources = self._tracks.get(each.instrument, {})
            if each.source in sources:
                differs_from = each.differs_from if each.differs_from in sources else None
                self._choices[each.instrument] = Choice(each.source, differs_from=differs_from)
        for tick in ticks:
            self._published[tick.instrument] = tick
            for track in self._tracks.get(tick.instrument, {}).values():
                if track.history.level_us < tick.at_us:
                    level_e6 = tick.bid_e6 + tick.ask_e6
                    track.history = QuoteHistory(level_e6=level_e6, level_us=tick.at_us)

    def set_guards(self, guards: Mapping[str, GuardNumbers]) -> None:
        """The desk's numbers, by instrument; those of the settings hold for the others."""
        for track in self._all_tracks():
            name = track.instrument.instrument
            numbers = guards.get(name) or self.settings.guards.get(name, GuardNumbers())
            if numbers != track.rules.numbers:
                track.rules = msgspec.structs.replace(track.rules, numbers=numbers)

    def prefer(self, instrument: str, source: str | None, now_us: int, *, at_once: bool) -> None:
        """Put a source first for an instrument; None: the order of the settings.

        `at_once`: if it is good now, also if its price differs from that of the source that it replaces.
        """
        if source is None:
            self.preferred.pop(instrument, None)
            self._insisted.pop(instrument, None)
        elif source in self._tracks.get(instrument, {}):
            self.preferred[instrument] = source
            if at_once:
                self._insisted[instrument] = (source, now_us)

    def release(self, source: str, instrument: str, level_e6: int) -> bool:
        """Believe what is held, if it is still near the level that the desk saw."""
        track = self._tracks.get(instrument, {}).get(source)
        held = None if track is None else track.history.held
        if track is None or held is None or not held.standing:
            return False
        if apart(held.newest.level_e6, level_e6, track.rules.numbers.agree_bps):
            return False
        track.history = accepted(held.newest)
        return True

    def connected(self, source: str, now_us: int) -> None:
        line = self._lines[source]
        line.connected, line.error, line.away_since_us, line.heard_us = True, None, None, now_us

    def lost(self, source: str, now_us: int, error: str | None = None) -> None:
        """Nothing of the source stands any longer: what it says is asked for anew."""
        line = self._lines[source]
        line.connected, line.error = False, error
        line.away_since_us = line.away_since_us or now_us
        for track in self._all_tracks():
            if track.line is line:
                track.history = msgspec.structs.replace(suspended(track.history), held=None)

    def take(self, item: Item) -> bool:
        """Whether the item moves a rate so far that it has to be published at once."""
        line = self._lines[item.source]
        if not line.connected:
            self.connected(item.source, item.received_us)
        line.heard_us = item.received_us
        match item:
            case Alive():
                return False
            case Unreadable():
                self._take_unreadable(item)
                return False
            case Quote():
                track = self._tracks.get(item.instrument, {}).get(item.source)
                return track is not None and self._take_quote(track, item)

    def _take_unreadable(self, item: Unreadable) -> None:
        tracks = [each for each in self._all_tracks() if each.source == item.source]
        named = [each for each in tracks if each.instrument.instrument == item.instrument]
        for track in named:
            track.history = suspended(track.history)
        # A message that names no instrument is counted once, at the first of them.
        for track in (named or tracks)[:1]:
            track.drops[Drop.UNREADABLE] += 1

    def _take_quote(self, track: _Track, quote: Quote) -> bool:
        now_us, held = quote.received_us, track.history.held
        known = (track.history.good, None if held is None else held.newest)
        if not track.line.settings.pushes and any(each and each.at_us == quote.at_us for each in known):
            return False  # Polled again before the source had anything new.
        others = [each for each in self._tracks[quote.instrument].values() if each is not track]
        levels = [level for each in others if (level := each.stated_e6(now_us)) is not None]
        is_open = track.line.is_open(now_us)
        track.history, drop = judge(track.rules, track.history, quote, levels, is_open=is_open)
        if drop is not None:
            track.drops[drop] += 1
            return False
        for each in others:
            held = each.history.held
            if held is None or not held.standing:
                continue
            if not apart(held.newest.level_e6, quote.level_e6, each.rules.numbers.agree_bps):
                each.history = accepted(held.newest)
        return self._is_urgent(quote)

    def _is_urgent(self, quote: Quote) -> bool:
        choice, before = self._choices[quote.instrument], self._published.get(quote.instrument)
        if choice.source != quote.source or not choice.publishes or before is None:
            return False
        return apart(quote.level_e6, before.bid_e6 + before.ask_e6, self.settings.urgent_bps)

    def step(self, now_us: int) -> Sequence[Tick]:
        """Choose the source of every instrument, and return the ticks to publish."""
        found = []
        for name in self._tracks:
            tick = self._step(name, now_us)
            if tick is not None and tick != self._published.get(name):
                self._published[name] = tick
                found.append(tick)
        return found

    def forget(self, ticks: Iterable[Tick]) -> None:
        """These ticks of `step` were not published: the next step returns them again, if they still stand."""
        for tick in ticks:
            self._published.pop(tick.instrument, None)

    def _step(self, instrument: str, now_us: int) -> Tick | None:
        tracks = self._tracks[instrument]
        candidates = [each.look(now_us) for each in self._in_order(instrument)]
        before, insisted = self._choices[instrument], self._wanted_at_once(instrument, now_us)
        choice = choose(self.settings, before, candidates, now_us, insisted)
        self._choices[instrument] = choice
        if insisted is not None and choice.source == insisted:
            del self._insisted[instrument]
        if choice.source != before.source and before.source is not None:
            self.switches += 1
        if not choice.publishes or choice.source is None:
            return None
        return tracks[choice.source].tick(now_us)

    def _wanted_at_once(self, instrument: str, now_us: int) -> str | None:
        """Only while the desk may still see what it decided by."""
        source, since_us = self._insisted.get(instrument, (None, now_us))
        if now_us - since_us <= self.settings.failover_s * _US_PER_S:
            return source
        del self._insisted[instrument]
        return None

    def status(self, holder: str, now_us: int) -> FeedStatus:
        off = off_parity(self.settings.parities, self._published, now_us)
        return FeedStatus(
            now_us,
            holder,
            tuple(_line_status(each, now_us) for each in self._lines.values()),
            tuple(self._instrument_status(each, now_us, off=each in off) for each in sorted(self._tracks)),
            self.switches,
        )

    def _instrument_status(self, instrument: str, now_us: int, *, off: bool) -> InstrumentStatus:
        choice, tracks = self._choices[instrument], self._in_order(instrument)
        return InstrumentStatus(
            instrument,
            choice.source,
            choice.publishes,
            choice.differs_from,
            self._disputing(instrument, now_us),
            off,
            self.preferred.get(instrument),
            tuple(each.status(now_us) for each in tracks),
            tracks[0].rules.numbers,
        )

    def _disputing(self, instrument: str, now_us: int) -> str | None:
        tracks, source = self._tracks[instrument], self._choices[instrument].source
        if source is None or not tracks[source].is_good(now_us):
            return None
        level_e6 = tracks[source].history.level_e6 or 0
        for each in tracks.values():
            other_e6 = each.history.level_e6
            if other_e6 is None or each.source == source or not each.is_good(now_us):
                continue
            if apart(other_e6, level_e6, self.settings.switch_bps):
                return each.source
        return None

    def _in_order(self, instrument: str) -> list[_Track]:
        preferred = self.preferred.get(instrument)
        return sorted(self._tracks[instrument].values(), key=lambda each: each.source != preferred)

    def _all_tracks(self) -> Iterable[_Track]:
        return (track for tracks in self._tracks.values() for track in tracks.values())


def _within(at_us: int, now_us: int, age_us_max: int) -> bool:
    """Whether it is so recent. A time far ahead is from before the clock was set back."""
    return abs(now_us - at_us) <= age_us_max


def _line_status(line: _Line, now_us: int) -> SourceStatus:
    return SourceStatus(
        line.settings.name,
        line.settings.kind,
        line.is_live(now_us),
        line.is_open(now_us),
        line.heard_us,
        line.away_since_us,
        line.error,
    )


def _e6(text: str | None) -> int | None:
    return None if text is None else int(Decimal(text).scaleb(PLACES))
