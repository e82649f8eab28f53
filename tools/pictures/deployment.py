"""Two shapes of a deployment: one machine, and many."""

from tools.pictures.canvas import Canvas


def one_machine() -> str:
    picture = Canvas(
        300,
        "One machine",
        "Clients reach a proxy, which ends TLS, and through it the trading port of the one node. The "
        "desk reaches its own port, which strangers do not. The node keeps its store in an SQLite file "
        "with the secret beside it, counts calls in memory, and has real orders covered at a venue.",
    )
    picture.box((16, 64), (104, 56), "clients", "programs", kind="green")
    picture.box((16, 200), (104, 56), "the desk", "people", kind="green")
    picture.frame((180, 16), (432, 268), "one machine")
    picture.box((196, 64), (96, 56), "proxy", "ends TLS", kind="grey")
    words = ("one node, with", "catalogue, rates", "and budgets", "in memory")
    picture.box((366, 48), (134, 220), "bullion serve", *words, kind="blue")
    picture.box((526, 120), (74, 56), "SQLite", "one file", kind="gold")
    picture.box((526, 200), (74, 56), "secret", "one file", kind="gold")
    picture.box((642, 64), (102, 56), "the venue", "or the desk", kind="grey")
    picture.way((120, 92), (194, 92), words=["HTTPS"], at=(150, 85))
    picture.way((292, 92), (364, 92), words=["8000"], at=(326, 85))
    picture.way(
        (120, 228), (364, 228), words=["the desk's port, 8001:", "kept from strangers"], at=(276, 206)
    )
    picture.way((500, 148), (524, 148), kind="both")
    picture.way((500, 228), (524, 228))
    picture.way((500, 92), (640, 92), words=["real orders"], at=(560, 85))
    return picture.svg()


def many_machines() -> str:
    picture = Canvas(
        566,
        "Many machines",
        "Clients reach a load balancer that ends TLS and asks each machine whether it is ready. Any "
        "number of equal machines, each with several workers, share one PostgreSQL primary, whose "
        "commits are confirmed by at least one of two standbys, and one Redis for the budgets. The desk "
        "reaches its own port from inside. Any node may speak to the venue.",
    )
    picture.box((16, 150), (104, 56), "clients", "programs", kind="green")
    picture.box((16, 330), (104, 56), "the desk", "people", kind="green")
    picture.box((176, 122), (132, 112), "load balancer", "ends TLS, and asks", "/health/ready", kind="grey")
    picture.frame((362, 16), (196, 384), "any number, all equal")
    for name, top in (("machine 1", 46), ("machine 2", 164), ("machine n", 282)):
        words = ("bullion serve,", "as many workers", "as it has cores")
        picture.box((380, top), (160, 104), name, *words, kind="blue")
        picture.way((308, 178), (336, 178), (336, top + 52 - 14), (378, top + 52 - 14))
    picture.way((120, 178), (174, 178), words=["HTTPS"], at=(146, 171))
    picture.text((336, 132), "8000", style="note middle over")
    picture.way((120, 358), (360, 358), words=["the desk's port, 8001:", "from inside alone"], at=(238, 336))
    words = ("covers real orders;", "any node asks it,", "under a lease")
    picture.box((602, 164), (142, 104), "the venue", *words, kind="grey")
    picture.way((560, 216), (600, 216), kind="both")
    picture.way((460, 402), (460, 430), kind="both")
    picture.frame((176, 432), (568, 118), "what all of them share")
    picture.box((192, 462), (118, 72), "Redis", "budgets alone,", "needs no backup", kind="gold")
    picture.box((380, 462), (160, 72), "PostgreSQL", "the primary has", "all that lasts", kind="gold")
    picture.box((622, 462), (108, 72), "standbys", "at least two,", "ANY 1 (…)", kind="gold")
    picture.way((540, 498), (620, 498), words=["synchronous"], at=(580, 490))
    return picture.svg()
