// What pages do beyond plain HTML: pause, keys, copying, and the warning before a sign-in ends.
(() => {
  'use strict';
  const say = (text) => {
    document.getElementById('status').textContent = text;
  };

  // Pages that move by themselves stop where nobody looks, or where somebody said so.
  let isPaused = false;
  document.addEventListener('htmx:before:request', (event) => {
    if (isPaused || document.hidden) event.preventDefault();
  });
  const pause = document.getElementById('pause');
  pause?.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? 'Paused: go on' : 'Updates again: pause';
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
  const KEYS =
    '/ searches, j and k move through rows, Enter opens, g and the first letter of a section goes there.';
  document.getElementById('keys')?.addEventListener('click', () => {
    localStorage.setItem('keys', areKeysOff() ? 'on' : 'off');
    say(areKeysOff() ? 'Keys are off.' : `Keys are on: ${KEYS}`);
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
      '?': () => say(KEYS),
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
    if (form.method !== 'post') return;
    // A double click does what it asks for once.
    if (form.dataset.sent || form.dataset.upload) event.preventDefault();
    if (form.dataset.sent) return;
    form.dataset.sent = 'yes';
    if (!form.dataset.upload) return;
    say('The file is on its way.');
    send(form, event.submitter)
      .then(() => say(''))
      .catch(({ message }) => say(`Not sent: ${message}. Send it again: it goes on from where it stopped.`))
      .finally(() => {
        delete form.dataset.sent;
        form.querySelector('progress').hidden = true;
      });
  });
  addEventListener('pageshow', () => {
    for (const form of document.forms) delete form.dataset.sent;
  });

  const WARNING_MS = 120_000;
  const { endsAt } = document.body.dataset;
  const warn = () => say('Your sign-in ends in two minutes: load any page to stay signed in.');
  if (endsAt) setTimeout(warn, Math.max(0, Date.parse(endsAt) - Date.now() - WARNING_MS));
})();
