// A button that copies each command.
document.querySelectorAll('.cmd').forEach(c => {
  const b = document.createElement('button');
  b.textContent = 'copy';
  b.onclick = () => {
    getSelection().selectAllChildren(c);
    document.execCommand('copy');
  };
  c.after(b);
});
// Sorts a table by the column whose heading is clicked: the first one as it was, numbers as numbers.
document.querySelectorAll('.sort').forEach(t => {
  const rows = [...t.tBodies[0].rows];
  t.querySelectorAll('th').forEach((h, i) => {
    let up = 1;
    h.onclick = () => {
      up = -up;
      const v = r => i ? r.cells[i].textContent : '' + rows.indexOf(r), n = r => parseFloat(v(r));
      [...rows].sort((a, b) => -up * (isNaN(n(a) - n(b)) ? v(a).localeCompare(v(b)) : n(a) - n(b)))
        .forEach(r => t.tBodies[0].append(r));
    };
  });
});
