# A word that is mistyped: exit code 2, one line, and the nearest right one; a name that resembles nothing gets none.
mkdir -p configs data/raw/p/null data/campaigns/mine-0123abcd
printf '[platform]\nname = here\n[null]\nsize = 8, 64, 4KiB\nconfig = a, b\n' >configs/mine.ini
whole_run data/raw/p/null/20250101T000000Z-abcd
$ gradsync paln
$ for verb in suspects advise limits list reduce fabric; do gradsync $verb h200-4gpu; done
$ gradsync plan mine.ini --workloda x
$ gradsync help measrue
$ gradsync plan mien
$ gradsync run mine -w nul
$ gradsync plan mine --set measure:block=3
$ gradsync plan mine --set null:config=z
$ gradsync show Z-abc
$ gradsync show "" mine
$ gradsync compare 20250101T000000Z-abd
$ for verb in show compare; do gradsync $verb zzzzzz; done
$ gradsync status
$ gradsync check $top/README.md
