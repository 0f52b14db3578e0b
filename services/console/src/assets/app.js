// What pages do beyond plain HTML: pause, curves, keys, copying, and the warning before a sign-in ends.
(() => {
  'use strict';
  const say = (text) => {
    document.getElementById('status').textContent = text;
  };

  // Pages that move by themselves stop where nobody looks, or where somebody said so.
  let isPaused = false;
  const main = () => document.getElementById('main');
  document.addEventListener('htmx:before:request', (event) => {
    if (event.target === main() && (isPaused || document.hidden)) event.preventDefault();
  });
  const pause = document.getElementById('pause');
  pause?.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? 'Paused: go on' : 'Updates again: pause';
  });

  const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = new Map();
  const timesOf = (zone) => (seconds) => globalThis.uPlot.tzDate(new Date(seconds * 1000), zone);
  const draw = (element) => {
    const { zone, currency, x, y } = JSON.parse(element.dataset.curve);
    drawn.get(element)?.destroy();
    const axis = { stroke: () => styleOf('--text'), grid: { stroke: () => styleOf('--line'), width: 1 } };
    const hours = [[60, '{HH}:{mm}', '\n{DD}/{MM}', null, null, null, null, null, 1]];
    const options = {
      width: element.clientWidth || 300,
      height: 220,
      tzDate: timesOf(zone),
      legend: { show: false },
      cursor: { show: false },
      axes: [
        {
          ...axis,
          space: 90,
          values: [[86400, '{DD}/{MM}', null, null, null, null, null, null, 1], ...hours],
        },
        {
          ...axis,
          size: 90,
          values: (_, all) => all.map((one) => `${one.toLocaleString('en-GB')} ${currency}`),
        },
      ],
      series: [{}, { stroke: () => styleOf('--accent'), width: 2, points: { show: x.length < 40 } }],
    };
    drawn.set(element, new globalThis.uPlot(options, [x, y], element));
  };
  const drawAll = () => {
    if (!globalThis.uPlot) return;
    for (const [element, plot] of drawn) {
      if (element.isConnected) continue;
      plot.destroy();
      drawn.delete(element);
    }
    for (const element of document.querySelectorAll('[data-curve]')) {
      if (element.firstChild === null || !drawn.has(element)) draw(element);
    }
  };
  addEventListener('DOMContentLoaded', drawAll);
  addEventListener('resize', () => {
    for (const [element, plot] of drawn) plot.setSize({ width: element.clientWidth, height: 220 });
  });
  document.addEventListener('htmx:after:swap', drawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const plot of drawn.values()) plot.redraw();
  });

  document.addEventListener('click', (event) => {
    const text = event.target.closest?.('[data-copy]')?.dataset.copy;
    if (text === undefined) return;
    navigator.clipboard.writeText(text).then(
      () => say(`Copied ${text}`),
      () => say('This browser does not let pages copy.'),
    );
  });

  // Keys lead somewhere; none of them changes anything. They can be switched off.
  const areKeysOff = () => localStorage.getItem('keys') === 'off';
  document.getElementById('keys')?.addEventListener('click', () => {
    localStorage.setItem('keys', areKeysOff() ? 'on' : 'off');
    say(
      areKeysOff()
        ? 'Keys are off.'
        : 'Keys are on: / searches, j and k move through rows, Enter opens, g and the first letter of a section goes there.',
    );
  });
  let isGoing = false;
  const rows = () => [...document.querySelectorAll('#main tbody tr')];
  const moveTo = (step) => {
    const all = rows();
    const here = all.findIndex((row) => row.contains(document.activeElement));
    all[Math.max(0, Math.min(all.length - 1, here + step))]?.querySelector('a, button')?.focus();
  };
  addEventListener('keydown', (event) => {
    const isTyping = event.target.closest?.('input, textarea, select');
    if (isTyping || areKeysOff() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isGoing) {
      isGoing = false;
      document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`)?.click();
      return;
    }
    const deeds = {
      '/': () => document.getElementById('find')?.focus(),
      g: () => {
        isGoing = true;
      },
      j: () => moveTo(1),
      k: () => moveTo(-1),
      '?': () => say('/ searches, j and k move through rows, Enter opens, g and a letter goes to a section.'),
    };
    const deed = Object.hasOwn(deeds, event.key) ? deeds[event.key] : undefined;
    if (!deed) return;
    event.preventDefault();
    deed();
  });

  // A file goes as the body of a request, with the form's other fields in the address; the answer is a page or a part of one.
  const PREVIEW_BYTES = 65_536;
  const firstLines = async (file) => {
    if (file.size <= PREVIEW_BYTES) return file;
    const bytes = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer());
    const end = bytes.lastIndexOf(10) + 1 || bytes.length;
    // In UTF-16 a line may end in the middle of two bytes.
    return file.slice(0, end + (bytes[0] >= 0xfe ? end % 2 : 0));
  };
  const digestOf = async (file) => {
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  const send = async (form, submitter) => {
    const { csrf, file, ...fields } = Object.fromEntries(new FormData(form, submitter));
    const body = fields.dryRun ? await firstLines(file) : file;
    const query = new URLSearchParams({ ...fields, sha256: await digestOf(body) });
    const [progress, answer] = [form.querySelector('progress'), form.nextElementSibling];
    await new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', `${form.dataset.upload}?${query}`);
      request.responseType = 'document';
      const headers = { 'x-csrf-token': csrf, 'hx-request': 'true', 'content-type': 'text/csv' };
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      progress.hidden = false;
      request.upload.onprogress = ({ loaded, total }) => {
        progress.value = (100 * loaded) / total;
      };
      request.onerror = () => reject(new Error('the file did not arrive'));
      request.onload = () => {
        const goTo = request.getResponseHeader('hx-redirect');
        if (goTo) location.assign(goTo);
        else answer.replaceChildren(...(request.response?.body.childNodes ?? [`Answered ${request.status}`]));
        answer.focus();
        resolve();
      };
      request.send(body);
    });
  };
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!form.dataset.upload) return;
    event.preventDefault();
    if (form.dataset.sent === 'yes') return;
    form.dataset.sent = 'yes';
    say('The file is on its way.');
    send(form, event.submitter)
      .then(() => say(''))
      .catch(({ message }) => say(`Not sent: ${message}. Send it again: it goes on from where it stopped.`))
      .finally(() => {
        delete form.dataset.sent;
        form.querySelector('progress').hidden = true;
      });
  });

  // A double click does what it asks for once.
  document.addEventListener('submit', (event) => {
    if (event.target.method !== 'post' || event.target.dataset.upload) return;
    if (event.target.dataset.sent === 'yes') event.preventDefault();
    event.target.dataset.sent = 'yes';
  });
  addEventListener('pageshow', () => {
    for (const form of document.forms) delete form.dataset.sent;
  });

  const WARNING_MS = 120_000;
  const { endsAt } = document.body.dataset;
  if (endsAt) {
    const inMs = Date.parse(endsAt) - Date.now() - WARNING_MS;
    setTimeout(
      () => say('Your sign-in ends in two minutes: load any page to stay signed in.'),
      Math.max(0, inMs),
    );
  }
})();
