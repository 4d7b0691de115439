# make              Moff for this machine in .venv, compiled, with what its tests need
# make test         its tests
# make EXE=NAME     everything in one program ./NAME, as OpenBench builds engines; it needs no Python to run;
#                   EVALFILE=FILE puts this network into it instead of Moff's own
# make release      in dist/: wheel, source distribution, and the folder of a program that needs no Python
# make clean        remove what these have made
#
# PYTHON names another Python than python3 (on Windows py).

ifeq ($(OS),Windows_NT)
PYTHON ?= py
BIN = .venv/Scripts
SUFFIX = .exe
else
PYTHON ?= python3
BIN = .venv/bin
SUFFIX =
endif
MADE_FROM = pyproject.toml setup.py moff.spec \
	$(filter-out %.pyc,$(wildcard moff/*.py moff/*/*.* moff/*/*/*.* search/*.p* search/*/*.p* search/*.net x88/*.[hp]* x88/*/*.p*))
PYINSTALLER = $(BIN)/pyinstaller --noconfirm --log-level WARN --workpath build/program moff.spec

.PHONY: all always moff test release clean

ifdef EXE
ifneq ($(wildcard $(EXE)/.),)
$(error there is a folder $(EXE) already: choose another name)
endif
all: $(EXE)$(SUFFIX)
else
all: moff
endif

moff: .venv/made
	@echo "$(BIN)/moff speaks UCI; $(BIN)/moff --help lists its commands"

.venv/made: $(MADE_FROM)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[release,test]"
	echo made >$@

ifdef EXE
# Always built again: make cannot know which network is in it.
$(EXE)$(SUFFIX): .venv/made always
	$(PYINSTALLER) --distpath . -- --one-file $(EXE)$(if $(EVALFILE), --network "$(EVALFILE)")
endif

test: .venv/made
	$(BIN)/python -m pytest

release: .venv/made
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*.tar.gz dist/*.whl
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYINSTALLER) --distpath dist

clean:
	rm -rf .venv build dist
