document.body.innerHTML = location.hash;
document.body.textContent = location.hash;
