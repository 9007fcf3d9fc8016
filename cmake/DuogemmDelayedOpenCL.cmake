# For Windows: the library with which programs find OpenCL's functions in OpenCL.dll when they first call one, instead of when they
# start, so that they start where there is none. FindOpenCL takes it for the one that is installed.
find_path(OpenCL_INCLUDE_DIR CL/cl.h REQUIRED)
file(READ ${OpenCL_INCLUDE_DIR}/CL/cl.h header)
string(REGEX MATCHALL "CL_API_CALL[ \n]+cl[A-Z][A-Za-z0-9]*" names "${header}")
list(TRANSFORM names REPLACE "CL_API_CALL[ \n]+" "")
list(JOIN names "\n" names)
set(folder ${CMAKE_BINARY_DIR}/delayed)
file(WRITE ${folder}/OpenCL.def "LIBRARY OpenCL.dll\nEXPORTS\n${names}\n")
find_program(DUOGEMM_DLLTOOL NAMES x86_64-w64-mingw32-dlltool dlltool REQUIRED)
mark_as_advanced(DUOGEMM_DLLTOOL)
set(OpenCL_LIBRARY ${folder}/libOpenCL.a CACHE FILEPATH "Made by the build" FORCE)
execute_process(COMMAND ${DUOGEMM_DLLTOOL} --input-def ${folder}/OpenCL.def --output-delaylib ${OpenCL_LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
