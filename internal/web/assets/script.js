// Search as one types, and keys to go through what was found. Without it the pages are plain forms and links.
"use strict";
(() => {
	const box = document.getElementById("q");
	const form = document.getElementById("search");
	const live = form && document.getElementById("results");
	let asked = null;
	let timer = 0;
	let last = form && address();

	// address is what the form asks for, without fields that are empty.
	function address() {
		const q = new URLSearchParams();
		for (const [key, value] of new FormData(form)) {
			if (value.trim() !== "") q.set(key, value.trim());
		}
		return q;
	}

	const items = () => [...document.querySelectorAll("[data-item]")];

	// replaceResults keeps the focus on the result that has it, or on the one that takes its place.
	function replaceResults(results) {
		const had = items().indexOf(document.activeElement);
		const href = had >= 0 && document.activeElement.getAttribute("href");
		live.replaceChildren(...results.childNodes);
		if (had < 0) return;
		const now = items();
		(now.find((e) => e.getAttribute("href") === href) ?? now[Math.min(had, now.length - 1)] ?? box).focus();
	}

	async function search() {
		const q = address();
		if (q.toString() === last.toString()) return;
		last = q;
		if (asked) asked.abort();
		asked = new AbortController();
		const mine = asked;
		live.setAttribute("aria-busy", "true");
		try {
			const page = new URLSearchParams(q);
			page.set("part", "1");
			const answer = await fetch("./?" + page, { signal: mine.signal, credentials: "same-origin", redirect: "error" });
			const found = new DOMParser().parseFromString(await answer.text(), "text/html");
			const results = found.getElementById("results");
			const status = found.getElementById("status");
			if (!results || !status) throw new Error("no results");
			replaceResults(results);
			document.getElementById("status").textContent = status.textContent;
			const rest = q.toString();
			history.replaceState(null, "", rest ? "./?" + rest : "./");
		} catch (err) {
			if (err.name !== "AbortError") {
				document.getElementById("status").textContent = "The server of these pages does not answer. It may have ended.";
			}
		} finally {
			if (mine === asked) live.removeAttribute("aria-busy");
		}
	}

	if (live) {
		if (document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);
		const soon = () => {
			clearTimeout(timer);
			timer = setTimeout(search, 120);
		};
		form.addEventListener("input", soon);
		form.addEventListener("change", soon);
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			clearTimeout(timer);
			search();
		});
	}

	// What is folded away where there is no room stands open where there is.
	for (const fold of document.querySelectorAll("details[data-wide]")) {
		fold.open = matchMedia("(min-width: 75rem)").matches;
		const list = fold.querySelector("nav"), here = fold.querySelector(".here");
		if (list && here) list.scrollTop = here.offsetTop - list.offsetTop;
	}

	// step goes to the next prompt or commit of a conversation, or the one before.
	function step(by) {
		const stops = [...document.querySelectorAll("#turns > .human, #turns > .commit")];
		const here = document.activeElement.closest(".human, .commit");
		let to = stops.indexOf(here) + by;
		if (!here) {
			const below = stops.findIndex((e) => e.getBoundingClientRect().top > 1);
			to = by > 0 ? (below < 0 ? stops.length : below) : (below < 0 ? stops.length : below) - 1;
		}
		if (stops[to]) {
			stops[to].tabIndex = -1;
			stops[to].focus();
			stops[to].scrollIntoView({ block: "start" });
		} else {
			const on = document.querySelector(`#turns a[rel="${by > 0 ? "next" : "prev"}"]`);
			if (on) on.click();
		}
	}

	// Single letters are left to browsers and screen readers, but for j and k in a conversation: other keys count with
	// Ctrl or ⌘, or within the results.
	document.addEventListener("keydown", (event) => {
		if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
			event.preventDefault();
			if (box) {
				box.focus();
				box.select();
			} else {
				location.assign("./");
			}
			return;
		}
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if ((event.key === "j" || event.key === "k") && document.getElementById("turns") && !event.target.matches("input, select")) {
			event.preventDefault();
			step(event.key === "j" ? 1 : -1);
			return;
		}
		const all = items(), at = all.indexOf(document.activeElement);
		if (event.key === "ArrowDown" && all.length > 0 && (at >= 0 || document.activeElement === box)) {
			event.preventDefault();
			all[Math.min(at + 1, all.length - 1)].focus();
		} else if (event.key === "ArrowUp" && at >= 0) {
			event.preventDefault();
			if (at > 0) all[at - 1].focus();
			else if (box) box.focus();
		} else if (event.key === "Escape" && at >= 0 && box) {
			box.focus();
		} else if (event.key === "Escape" && document.activeElement.closest(".part")) {
			document.activeElement.blur(); // what stands beside a line of a file closes
		}
	});
})();
