"""Checks that every link of a built site leads to a file of it, and every anchor to an element.

    python3 scripts/check_site.py FOLDER
"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """Collects the links and the names of elements of a page."""

    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "id" in attributes:
            self.names.add(attributes["id"])
        for key in ("href", "src"):
            if attributes.get(key):
                self.links.append(attributes[key])


def read(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    return page


def main(folder):
    root = Path(folder).resolve()
    pages = {path: read(path) for path in sorted((root / "docs").rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        if path.name in ("404.html", "print.html", "toc.html"):
            continue
        for link in page.links:
            if "://" in link or link.startswith(("mailto:", "data:", "javascript:")):
                continue
            file, anchor = urldefrag(link)
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.exists():
                faults.append(f"{path.relative_to(root)}: {link} is not there")
            elif anchor and target in pages and unquote(anchor) not in pages[target].names:
                faults.append(f"{path.relative_to(root)}: {link} has no such element")
    print("\n".join(faults) or f"{len(pages)} pages, no dead link")
    return 1 if faults or not pages else 0


sys.exit(main(sys.argv[1]))
